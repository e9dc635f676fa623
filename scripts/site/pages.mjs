// Which pages the site has. A page is a Markdown file of the repository at the path of that file; the menu orders them by section.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../setup.mjs'

/** Sections of the menu, by folder of `docs`. Pages of a folder that no section names are in "Project". */
const sections = [
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

/** @returns the sections of the menu: `{ title, files }`, files as paths from the root */
export function menuSections() {
  const generated = ['docs/reference/generated', 'docs/reference/generated/performance'].flatMap(markdownIn)
  const named = sections.map(([title, folder, pages]) => ({ title, files: pages.map((page) => `docs/${folder}/${page}.md`) }))
  named[0].files.unshift('README.md')
  const placed = new Set(named.flatMap(({ files }) => files))
  const written = ['docs', 'docs/guide', 'docs/operate', 'docs/reference', 'docs/internals'].flatMap(markdownIn)
  return [
    ...named,
    {
      title: 'Project',
      files: [...written.filter((file) => !placed.has(file)), 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'],
    },
    { title: 'Packages', files: folders('packages') },
    { title: 'Examples', files: folders('examples') },
    { title: 'Reports', files: generated.filter((file) => !placed.has(file)) },
    { title: 'Decisions', files: markdownIn('docs/internals/decisions') },
  ]
}

function markdownIn(folder) {
  return readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`)
    .sort()
}

/** The READMEs of the folders in a folder. */
function folders(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && readdirSync(join(root, folder, entry.name)).includes('README.md'))
    .map(({ name }) => `${folder}/${name}/README.md`)
    .sort()
}

/** The path of a page in the site. */
export function urlOf(file) {
  if (file === 'README.md') return 'index.html'
  return file.replace(/README\.md$/, 'index.html').replace(/\.md$/, '.html')
}

export function textOf(file) {
  return readFileSync(join(root, file), 'utf8')
}
