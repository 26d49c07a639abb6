/**
 * @module web/results/paper
 * The results on paper: charts of a sheet's width, in colours for white, and all of them, for nothing there is out of
 * sight.
 */

/**
 * Has the page be printed whole.
 * @param complete draws all there is, as wide as it is now
 * @returns lets it be
 */
export function onPaper(complete: () => void): () => void {
  const { documentElement: root } = document;
  let theme: string | undefined;
  const before = () => {
    theme ??= root.dataset.theme;
    root.dataset.theme = 'light';
    root.classList.add('paper');
    complete();
  };
  const after = () => {
    root.classList.remove('paper');
    if (theme !== undefined) root.dataset.theme = theme;
    theme = undefined;
    // For the screen again.
    complete();
  };
  addEventListener('beforeprint', before);
  addEventListener('afterprint', after);
  return () => {
    removeEventListener('beforeprint', before);
    removeEventListener('afterprint', after);
  };
}
