/**
 * @module report/view/template
 * Templates of HTML that the report writes as text and the page renders as elements. They keep to what both know:
 * `.style=${text}` for styles, `?name=${flag}` for attributes without a value; `undefined` and `''` show nothing.
 */

/** A tag of template literals. */
export type Template<T> = (strings: TemplateStringsArray, ...values: readonly unknown[]) => T;

/** The tags of one renderer. */
export interface Templates<T> {
  readonly html: Template<T>;
  /** For what stands inside an `svg` element. */
  readonly svg: Template<T>;
}
