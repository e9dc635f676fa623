/** What pages of the site consist of. */

/** A heading with its anchor. */
export interface Heading {
  readonly id: string
  readonly title: string
}

/** Part of a page that the search finds; the `id` of the first is empty. */
export interface Section extends Heading {
  readonly text: string
}

export interface Page {
  /** Path in the site. */
  readonly url: string
  readonly title: string
  readonly html: string
  /** Those that stand beside the page; absent: none. */
  readonly headings?: readonly Heading[]
}

export interface SearchablePage extends Page {
  readonly sections: readonly Section[]
}

export interface MenuEntry {
  readonly url: string
  readonly label: string
}

export interface MenuSection {
  readonly title: string
  readonly entries: readonly MenuEntry[]
}
