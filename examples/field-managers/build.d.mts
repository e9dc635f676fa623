/** The text of the page. */
export function pageHtml(): Promise<string>
