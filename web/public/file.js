// Opened as a file, the page says how to serve it. A plain script: browsers load modules from servers only.
(() => {
  if (location.protocol !== 'file:') return;
  const path = decodeURIComponent(location.pathname).replace(/[^/]*$/, '');
  const onWindows = /^\/[A-Za-z]:\//.test(path);
  const folder = onWindows ? `"${path.slice(1)}"` : `'${path.replaceAll("'", "'\\''")}'`;
  const command = `${onWindows ? 'py' : 'python3'} -m http.server 8000 --bind 127.0.0.1 --directory ${folder}`;
  const add = (parent, tag, text, style = '') => {
    const element = document.createElement(tag);
    element.textContent = text;
    element.style.cssText = style;
    parent.append(element);
    return element;
  };
  addEventListener('DOMContentLoaded', () => {
    const box = add(
      document.body,
      'main',
      '',
      'max-width: 44rem; margin: 15vh auto; padding: 0 1.5rem; font: 16px/1.6 system-ui, sans-serif',
    );
    add(box, 'h1', 'This page needs a server', 'font-size: 1.6rem; line-height: 1.2');
    add(
      box,
      'p',
      'Browsers do not load the parts of this page from a file. Any web server on this computer will do. For example, run this ' +
        'in a terminal:',
    );
    add(
      add(
        box,
        'pre',
        '',
        'padding: 1em; border: 1px solid #888; border-radius: 8px; overflow-wrap: anywhere; white-space: pre-wrap',
      ),
      'code',
      command,
    );
    const then = add(box, 'p', 'Then open ');
    const link = add(then, 'a', 'http://localhost:8000', 'color: light-dark(#2a62d8, #7aa5ff)');
    link.href = 'http://localhost:8000/';
    then.append('. Your videos stay on this computer.');
  });
})();
