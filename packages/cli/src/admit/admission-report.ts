import type { AdmissionDecision, ObjectChange } from '@krmkit/admission'
import { objectText } from 'krmkit/validate'
import { differingExcerpts, excerpt } from '../offline/excerpts.ts'
import type { Paint } from '../offline/paint.ts'
import { prettyJson, printObjects } from '../offline/print.ts'
import type { ReportForm } from './admit-flags.ts'
import type { AdmissionResult } from './offline-cluster.ts'

/** The output of `krmkit admit`. */

export interface AdmissionReport {
  add(result: AdmissionResult): void
  end(): void
}

export function createAdmissionReport(
  form: ReportForm,
  parts: { readonly out: (text: string) => void; readonly paint: Paint },
): AdmissionReport {
  if (form === 'text') return new TextReport(parts)
  const results: AdmissionResult[] = []
  return {
    add: (result) => void results.push(result),
    end() {
      const stored = results.map(({ object }) => object).filter((object) => object !== undefined)
      parts.out(form === 'yaml' ? printObjects(stored, 'yaml') : `${prettyJson(results.map(plain))}\n`)
    },
  }
}

/** The JSON form of a result. */
function plain({ request, operation, allowed, object, status, warnings, decisions }: AdmissionResult): object {
  const { file, name } = request
  return { file, ...name, operation, allowed, ...(status === undefined ? {} : { status }), warnings, decisions, object }
}

class TextReport implements AdmissionReport {
  readonly #out: (text: string) => void
  readonly #paint: Paint
  #accepted = 0
  #refused = 0

  constructor({ out, paint }: { readonly out: (text: string) => void; readonly paint: Paint }) {
    this.#out = out
    this.#paint = paint
  }

  add(result: AdmissionResult): void {
    const { green, red, yellow, dim } = this.#paint
    const { request, allowed, operation, status, decisions, warnings } = result
    if (allowed) this.#accepted++
    else this.#refused++
    const verb = operation === 'CREATE' ? 'created' : 'updated'
    const verdict = allowed ? green(`would be ${verb}`) : red(`would not be ${verb}`)
    const lines = [`${objectText(request.name)} ${verdict} ${dim(`(${request.file})`)}`]
    if (status !== undefined) {
      const refused = decisions.find(({ outcome }) => outcome === 'refused')
      lines.push(`  ${red(refused === undefined ? 'refused' : `refused by ${refused.plugin}`)}: ${status.message ?? ''}`)
    }
    for (const decision of decisions) lines.push(...this.#decision(decision))
    for (const text of warnings) lines.push(`  ${yellow('warning')}: ${text}`)
    this.#out(`${lines.join('\n')}\n`)
  }

  end(): void {
    const { bold } = this.#paint
    this.#out(`${bold(`${this.#accepted} would be accepted, ${this.#refused} refused`)}\n`)
  }

  #decision({ plugin, changes, reasons, annotations }: AdmissionDecision): string[] {
    const { bold, dim } = this.#paint
    const audited = Object.entries(annotations)
    if (changes.length === 0 && reasons.length === 0 && audited.length === 0) return []
    const why = [...new Set(reasons)].join('; ')
    return [
      `  ${bold(plugin)}${why === '' ? '' : `: ${why}`}`,
      ...changes.map((change) => `    ${this.#change(change)}`),
      ...audited.map(([key, value]) => dim(`    audit ${key}: ${value}`)),
    ]
  }

  #change({ op, path, before, after }: ObjectChange): string {
    const { green, red, yellow } = this.#paint
    if (op === 'add') return green(`+ ${path} ${excerpt(jsonOf(after), maxLength)}`)
    if (op === 'remove') return red(`- ${path} ${excerpt(jsonOf(before), maxLength)}`)
    return yellow(`~ ${path} ${differingExcerpts(jsonOf(before), jsonOf(after), maxLength).join(' -> ')}`)
  }
}

const maxLength = 160

function jsonOf(value: unknown): string {
  return JSON.stringify(value) ?? ''
}
