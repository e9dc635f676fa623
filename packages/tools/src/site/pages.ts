/** Which pages the site has. A page is a Markdown file of the repository at the path of that file; the menu orders them by section. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { publishedPackages, root } from '../lib/workspace.ts'

/** Sections of the menu, by folder of `docs`. Pages of a folder that no section names are in "Project". */
const sections: readonly (readonly [title: string, folder: string, pages: readonly string[]])[] = [
  ['Start', 'guide', ['getting-started', 'tasks', 'control-plane', 'browsers']],
  ['Write', 'guide', ['custom-resources', 'controllers', 'extending', 'field-ownership', 'admission', 'webhooks']],
  ['Check manifests', 'guide', ['offline', 'editors', 'will-my-cluster-upgrade-break-me']],
  [
    'Test',
    'guide',
    [
      'testing-tutorial',
      'testing-cookbook',
      'testing-migration',
      'cluster',
      'faults',
      'debugging-tests',
      'envtest',
      'client-certification',
    ],
  ],
  ['Secure', 'operate', ['hardening', 'authentication', 'authorization', 'certificates', 'audit']],
  [
    'Operate',
    'operate',
    [
      'storage',
      'observability',
      'priority-and-fairness',
      'proxy',
      'controller-manager',
      'emulation',
      'feature-gates',
      'upgrading',
      'troubleshooting',
    ],
  ],
  ['Reference', 'reference', ['comparison', 'compatibility', 'storage-contract', 'generated/errors']],
]

/** A section of the menu; files are paths from the root. */
export interface FileSection {
  readonly title: string
  readonly files: readonly string[]
}

export function menuSections(): FileSection[] {
  const generated = ['docs/reference/generated', 'docs/reference/generated/performance'].flatMap(markdownIn)
  const named = sections.map(([title, folder, pages], index) => ({
    title,
    files: [...(index === 0 ? ['README.md'] : []), ...pages.map((page) => `docs/${folder}/${page}.md`)],
  }))
  const placed = new Set(named.flatMap(({ files }) => files))
  const written = ['docs', 'docs/guide', 'docs/operate', 'docs/reference', 'docs/internals'].flatMap(markdownIn)
  return [
    ...named,
    {
      title: 'Project',
      files: [...written.filter((file) => !placed.has(file)), 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'],
    },
    { title: 'Packages', files: publishedPackages().map((name) => `packages/${name}/README.md`) },
    { title: 'Examples', files: exampleReadmes() },
    { title: 'Reports', files: generated.filter((file) => !placed.has(file)) },
    { title: 'Decisions', files: markdownIn('docs/internals/decisions') },
  ]
}

function markdownIn(folder: string): string[] {
  return readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`)
    .sort()
}

function exampleReadmes(): string[] {
  return readdirSync(join(root, 'examples'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(root, 'examples', entry.name, 'README.md')))
    .map(({ name }) => `examples/${name}/README.md`)
    .sort()
}

/** The path of a page in the site. */
export function urlOf(file: string): string {
  if (file === 'README.md') return 'index.html'
  return file.replace(/README\.md$/, 'index.html').replace(/\.md$/, '.html')
}

export function textOf(file: string): string {
  return readFileSync(join(root, file), 'utf8')
}
