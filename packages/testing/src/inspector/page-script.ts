/** The script of the inspector page. It inserts all data as text, so that no value becomes markup. */
export const pageScript = `
'use strict'
const report = JSON.parse(document.getElementById('report').textContent)
const byId = (id) => document.getElementById(id)

function element(name, classes, ...children) {
  const made = document.createElement(name)
  if (classes !== '') made.className = classes
  made.append(...children)
  return made
}

function details(classes, heading, fill) {
  const made = element('details', classes, element('summary', '', ...heading))
  made.addEventListener('toggle', () => { if (made.open && made.childElementCount === 1) made.append(...fill()) })
  return made
}

function link(text, target) {
  const made = element('button', '', text)
  made.addEventListener('click', () => {
    const found = byId(target)
    found.open = true
    found.scrollIntoView({ block: 'center' })
  })
  return made
}

const startMs = report.requests.length === 0 ? 0 : report.requests[0].atMs
const seconds = (atMs) => '+' + ((atMs - startMs) / 1000).toFixed(3) + ' s'

function requestItem(request, index) {
  const heading = [
    element('span', request.code >= 400 || request.code === 0 ? 'code failed' : 'code', String(request.code)),
    element('span', 'time', seconds(request.atMs)),
    element('span', 'user', request.user),
    request.what,
  ]
  const made = details(request.kind, heading, () => [
    element('code', '', request.target),
    element('pre', '', request.steps.join('\\n')),
    ...request.objects.map((object) => link(report.objects[object].title, 'object-' + object)),
  ])
  made.id = 'request-' + index
  return element('li', '', made)
}

function runItem(run) {
  const heading = [
    element('span', run.isFailed ? 'code failed' : 'code', 'run'),
    element('span', 'time', seconds(run.atMs)),
    element('span', 'user', run.controller),
    run.key,
  ]
  return element('li', '', details('run', heading, () => [element('pre', '', run.steps.join('\\n'))]))
}

/** Requests, and runs of controllers before the first request after their end. */
function timeline() {
  const rows = report.requests.map((request, index) => ({
    text: request.what + ' ' + request.target + ' ' + request.user + ' ' + request.code,
    kind: request.kind, isController: request.isController, before: index, item: requestItem(request, index),
  }))
  for (const run of report.runs) {
    const text = 'run ' + run.controller + ' ' + run.key
    rows.push({ text, kind: 'run', isController: run.isController, before: run.before - 0.5, item: runItem(run) })
  }
  return rows.sort((a, b) => a.before - b.before)
}

function versionItem(version) {
  const request = report.requests[version.request]
  const manager = version.manager === '' ? '' : ', manager ' + version.manager
  const heading = [element('span', 'time', seconds(request.atMs)), request.what + ' by ' + request.user + manager]
  return details('', heading, () => [
    link('request', 'request-' + version.request),
    element('pre', '', version.changes.join('\\n')),
    element('pre', '', version.ownership.join('\\n')),
    element('table', '', ...version.lines.map((line) =>
      element('tr', line.isChanged ? 'changed' : '', element('td', '', line.text), element('td', 'owner', line.owners)))),
  ])
}

function objectItem(object, index) {
  const heading = [object.title, ' ', element('span', 'time', object.versions.length + ' writes')]
  const made = details('', heading, () => object.versions.map(versionItem))
  made.id = 'object-' + index
  return made
}

function ownersTree() {
  const dependents = new Map()
  const titles = new Set()
  for (const { title, owners } of report.objects) {
    for (const owner of owners) {
      dependents.set(owner, [...(dependents.get(owner) ?? []), title])
      titles.add(title)
    }
  }
  const branch = (title, above) => element('li', '', title,
    element('ul', '', ...(above.includes(title) ? [] : (dependents.get(title) ?? []).map((each) => branch(each, [...above, title])))))
  const roots = [...dependents.keys()].filter((title) => !titles.has(title))
  return element('ul', '', ...roots.map((root) => branch(root, [])))
}

function show() {
  const words = byId('filter').value.toLowerCase()
  for (const { text, kind, isController, item } of rows) {
    item.hidden = !(text.toLowerCase().includes(words) && (byId('controllers').checked || !isController) &&
      (byId('reads').checked || kind !== 'read') && (byId('runs').checked || kind !== 'run'))
  }
  report.objects.forEach((object, index) => { byId('object-' + index).hidden = !object.title.toLowerCase().includes(words) })
}

const rows = timeline()
byId('requests').append(...rows.map(({ item }) => item))
byId('objects').append(...report.objects.map(objectItem))
byId('owners').append(ownersTree())
for (const id of ['filter', 'controllers', 'reads', 'runs']) byId(id).addEventListener('input', show)
document.documentElement.dataset.ready = String(report.requests.length)
`
