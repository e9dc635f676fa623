import { type BlamedLine, blameLines, type Change, type Resolution } from '@krmkit/fieldmanager'
import type { JsonObject } from '@krmkit/meta'
import { printYaml } from '@krmkit/schema'
import { type Side, type Story, stories } from './stories.ts'
import { nameOf, type Outcome, Workshop } from './workshop.ts'

/** The page: two editors, the lines of the object between them, and the last result. */

type Attributes = Readonly<Record<string, string>>

function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  made.append(...children)
  return made
}

const byId = (id: string): HTMLElement => document.getElementById(id) as HTMLElement
const sides: readonly Side[] = ['a', 'b']
const roles: Readonly<Record<Side, { readonly name: string; readonly role: string }>> = {
  a: { name: 'ci', role: 'ships the application' },
  b: { name: 'platform', role: 'runs the cluster' },
}

let workshop = new Workshop(Date.now)
/** Fields with conflicts of the last apply, and fields that it changed. */
let fought: readonly string[] = []
let fresh: readonly Change[] = []

class Manager {
  readonly side: Side
  readonly #name: HTMLInputElement
  readonly #text: HTMLTextAreaElement
  readonly #say: HTMLElement

  constructor(side: Side) {
    this.side = side
    const card = byId(side)
    card.append((byId('manager') as HTMLTemplateElement).content.cloneNode(true))
    this.#name = card.querySelector('.name') as HTMLInputElement
    this.#text = card.querySelector('textarea') as HTMLTextAreaElement
    this.#say = card.querySelector('.say') as HTMLElement
    this.#name.value = roles[side].name
    ;(card.querySelector('.role') as HTMLElement).textContent = roles[side].role
    card.querySelector('.primary')?.addEventListener('click', () => this.apply())
    card.querySelector('.take')?.addEventListener('click', () => this.#readBack())
    this.#name.addEventListener('input', render)
    this.#text.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) this.apply()
    })
  }

  get name(): string {
    return this.#name.value
  }

  set yaml(text: string) {
    this.#text.value = text
  }

  say(...children: (Node | string)[]): void {
    this.#say.replaceChildren(...children)
  }

  apply(resolution?: Resolution): void {
    const outcome = workshop.apply(this.name, this.#text.value, resolution)
    for (const each of Object.values(managers)) each.say()
    fought = outcome.kind === 'conflict' ? outcome.explanations.map(({ field }) => field) : []
    fresh = outcome.kind === 'applied' ? outcome.changes : []
    this.#tell(outcome)
    note(this, outcome, resolution)
    render()
  }

  #readBack(): void {
    const text = workshop.extract(this.name)
    if (text === undefined) {
      this.say(element('span', { class: 'wrong' }, 'There is no object yet.'))
      return
    }
    this.#text.value = text
    this.say(element('span', {}, `This is what ${this.name} owns now.`))
  }

  #tell(outcome: Outcome): void {
    if (outcome.kind === 'refused') this.say(element('span', { class: 'wrong' }, outcome.message))
    else if (outcome.kind === 'conflict') this.say(this.#conflict(outcome))
    else this.#applied(outcome)
  }

  #applied(outcome: Outcome & { kind: 'applied' }): void {
    this.#text.value = outcome.yaml
    const { changes, created } = outcome
    const told = created ? 'Created.' : changes.length === 0 ? 'Applied; nothing but ownership can have changed.' : 'Applied:'
    const list = created ? [] : [element('ul', {}, ...changes.map((change) => element('li', {}, changeText(change))))]
    this.say(element('span', { class: 'ok' }, told), ...list)
  }

  #conflict({ explanations }: Outcome & { kind: 'conflict' }): HTMLElement {
    const [first] = explanations
    const owners = [...new Set(explanations.map(({ manager }) => manager))].join(' and ')
    const fields = explanations.map(({ field, manager, live, wanted }) =>
      element(
        'p',
        {},
        element('code', {}, field),
        ` belongs to ${manager}: it is `,
        code(live),
        ', you want ',
        code(wanted),
        '.',
      ),
    )
    const way = (resolution: Resolution, title: string, text: string) => {
      const button = element(
        'button',
        { type: 'button', 'data-way': resolution },
        element('b', {}, title),
        element('span', {}, text),
      )
      button.addEventListener('click', () => this.apply(resolution))
      return button
    }
    const many = explanations.length > 1
    return element(
      'div',
      { class: 'conflict' },
      element('h3', {}, many ? `${explanations.length} conflicts: nothing was applied` : 'A conflict: nothing was applied'),
      ...fields,
      element(
        'div',
        { class: 'ways' },
        way(
          'force',
          'Take over',
          `Apply with force: ${many ? 'they become' : 'it becomes'} yours, and ${owners} loses ${many ? 'them' : 'it'}.`,
        ),
        way('abandon', 'Leave out', `Keep ${many ? 'them' : 'it'} out of your configuration: ${owners} stays the only owner.`),
        way(
          'share',
          'Agree',
          many
            ? 'Apply the values that are there: you own them together.'
            : `Apply ${plain(first?.live)} as it is: you own it together.`,
        ),
      ),
    )
  }
}

function code(value: unknown): HTMLElement {
  return element('code', {}, plain(value))
}

function plain(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value)
}

function changeText({ kind, field, before, after }: Change): string {
  if (kind === 'added') return `+ ${field}`
  return kind === 'removed' ? `- ${field}` : `${field}: ${plain(before)} to ${plain(after)}`
}

const words: Readonly<Record<Outcome['kind'], string>> = {
  applied: 'applied',
  conflict: 'met a conflict',
  refused: 'was refused',
}
const wayWords: Readonly<Record<Resolution, string>> = {
  force: 'with force',
  abandon: 'without the fields',
  share: 'in agreement',
}

function note(manager: Manager, outcome: Outcome, resolution: Resolution | undefined): void {
  const details =
    outcome.kind === 'refused'
      ? outcome.message
      : outcome.kind === 'conflict'
        ? outcome.explanations.map(({ field, manager: owner }) => `${field} belongs to ${owner}`).join(', ')
        : outcome.created
          ? 'and made the object'
          : outcome.changes.map(changeText).join(', ') || 'and changed no value'
  const how = resolution === undefined ? '' : ` ${wayWords[resolution]}`
  const time = element('time', {}, new Date().toTimeString().slice(0, 8))
  byId('log').prepend(
    element(
      'li',
      { class: manager.side },
      time,
      element('span', { class: 'by' }, manager.name),
      `${words[outcome.kind]}${how}: ${details}`,
    ),
  )
}

/** Empty lines without an owner. */
function isNoise({ text, owners }: BlamedLine): boolean {
  return owners.length === 0 && /: (?:null|\{\})$/.test(text)
}

function render(): void {
  const { live } = workshop
  const names = { a: managers.a.name, b: managers.b.name }
  byId('what').textContent = live === undefined ? '' : `${nameOf(live) ?? ''}`
  byId('legend').replaceChildren(
    ...sides.map((side) =>
      element('span', { class: `manager-${side}`, style: `--mine: var(--${side})` }, element('i', { class: 'dot' }), names[side]),
    ),
    element('span', {}, element('i', { class: 'dot both' }), 'both'),
  )
  const lines = live === undefined ? [] : blameLines(live, workshop.schema).filter((line) => !isNoise(line))
  byId('live').replaceChildren(
    ...(live === undefined
      ? [element('p', { class: 'nothing' }, 'Nothing here yet. Apply something.')]
      : withoutEmptied(lines).map((line) => row(line, names))),
  )
  byId('stored').textContent = live === undefined ? '' : printYaml((live.metadata as JsonObject).managedFields)
}

/** Removes members that contain only noise. */
function withoutEmptied(lines: readonly BlamedLine[]): BlamedLine[] {
  const indent = (line: BlamedLine | undefined) => (line === undefined ? -1 : line.text.length - line.text.trimStart().length)
  return lines.filter((line, index) => {
    const next = lines[index + 1]
    const opens = line.owners.length === 0 && line.text.endsWith(':')
    const holds =
      next !== undefined &&
      (indent(next) > indent(line) || (indent(next) === indent(line) && next.text.trimStart().startsWith('- ')))
    return !opens || holds
  })
}

function row({ text, field, owners }: BlamedLine, names: Readonly<Record<Side, string>>): HTMLElement {
  const managersOf = [...new Set(owners.map(({ manager }) => manager))]
  const mine = sides.filter((side) => managersOf.includes(names[side]))
  const others = managersOf.some((name) => name !== names.a && name !== names.b)
  const kind = managersOf.length === 0 ? 'free' : others ? 'other' : mine.length === 2 ? 'both' : (mine[0] as string)
  const isFresh = fresh.some((change) => field.startsWith(change.field))
  const classes = ['row', kind, ...(fought.includes(field) ? ['fought'] : []), ...(isFresh ? ['fresh'] : [])]
  const title = owners
    .map(({ manager, operation, since }) => `${manager}: ${operation}${since === undefined ? '' : `, last at ${since}`}`)
    .join('\n')
  const who = mine.length === 2 ? 'both' : managersOf.join(', ')
  return element(
    'div',
    {
      class: classes.join(' '),
      title: title === '' ? 'no owner' : title,
      'data-field': field,
      'data-owners': managersOf.join(','),
    },
    element('span', { class: 'who' }, who),
    element('pre', {}, text.slice(0, text.length - text.trimStart().length), element('span', {}, text.trimStart())),
  )
}

function show({ steps }: Story): void {
  workshop = new Workshop(Date.now)
  byId('log').replaceChildren()
  for (const { side, yaml } of steps) {
    managers[side].yaml = yaml
    managers[side].apply()
  }
}

const managers: Readonly<Record<Side, Manager>> = { a: new Manager('a'), b: new Manager('b') }
for (const story of stories) {
  const button = element('button', { type: 'button', class: 'small' }, story.title)
  button.addEventListener('click', () => show(story))
  byId('stories').append(button)
}
const afresh = element('button', { type: 'button', class: 'small', id: 'afresh' }, 'start afresh')
afresh.addEventListener('click', () => {
  show({ title: '', steps: [] })
  for (const side of sides) managers[side].say()
  fought = []
  fresh = []
  render()
})
byId('stories').append(afresh)
show(stories[0] as Story)
render()
