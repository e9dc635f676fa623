// Which pages the site has. A page is a Markdown file of the repository at the path of that file; the menu orders them by section.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../setup.mjs'

/** Sections of the menu. Documents that no section names are in "Project". */
const sections = [
  [
    'Start',
    ['README.md', 'docs/getting-started.md', 'docs/tasks.md', 'docs/control-plane.md', 'docs/browsers.md', 'docs/comparison.md'],
  ],
  [
    'Write',
    [
      'docs/custom-resources.md',
      'docs/controllers.md',
      'docs/extending.md',
      'docs/field-ownership.md',
      'docs/admission.md',
      'docs/webhooks.md',
    ],
  ],
  ['Check manifests', ['docs/offline.md', 'docs/editors.md', 'docs/will-my-cluster-upgrade-break-me.md']],
  [
    'Test',
    [
      'docs/testing-tutorial.md',
      'docs/testing-cookbook.md',
      'docs/testing-migration.md',
      'docs/cluster.md',
      'docs/faults.md',
      'docs/debugging-tests.md',
      'docs/envtest.md',
      'docs/client-certification.md',
    ],
  ],
  [
    'Secure',
    [
      'docs/hardening.md',
      'docs/authentication.md',
      'docs/authorization.md',
      'docs/certificates.md',
      'docs/audit.md',
      'SECURITY.md',
    ],
  ],
  [
    'Operate',
    [
      'docs/storage.md',
      'docs/storage-contract.md',
      'docs/observability.md',
      'docs/priority-and-fairness.md',
      'docs/proxy.md',
      'docs/controller-manager.md',
      'docs/emulation.md',
      'docs/feature-gates.md',
      'docs/upgrading.md',
    ],
  ],
  ['Help', ['docs/troubleshooting.md', 'docs/errors.md']],
]
const reports = ['docs/compatibility.md', 'docs/conformance.md', 'docs/divergence.md', 'docs/validators.md']

/** @returns the sections of the menu: `{ title, files }`, files as paths from the root */
export function menuSections() {
  const docs = markdownIn('docs')
  const performance = ['docs/performance.md', ...markdownIn('docs/performance')]
  const packages = folders('packages')
  const examples = folders('examples')
  const decisions = markdownIn('docs/decisions')
  const named = sections.map(([title, files]) => ({
    title,
    files: files.filter((file) => !file.startsWith('docs/') || docs.includes(file)),
  }))
  const placed = new Set([...named.flatMap(({ files }) => files), ...reports, ...performance])
  return [
    ...named,
    { title: 'Project', files: [...docs.filter((file) => !placed.has(file)), 'CONTRIBUTING.md', 'CHANGELOG.md'] },
    { title: 'Packages', files: packages },
    { title: 'Examples', files: examples },
    { title: 'Reports', files: [...reports, ...performance] },
    { title: 'Decisions', files: decisions },
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
