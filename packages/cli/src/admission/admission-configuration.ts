import { dirname, isAbsolute, join } from 'node:path'
import { type AdmissionConfiguration, AdmissionError, parseAdmissionConfiguration } from '@krmkit/admission'
import { parseYaml } from '@krmkit/schema'
import { CliError } from '../cli-error.ts'
import { readText } from '../files.ts'

const flag = 'admission-control-config-file'

/** Reads an `AdmissionConfiguration`; relative paths in it are relative to its folder. @throws CliError */
export async function readAdmissionConfiguration(path: string): Promise<AdmissionConfiguration> {
  const text = await readText(path, flag)
  const parse = (source: string): unknown => parseYaml(new TextEncoder().encode(source)).value
  const read = (named: string) => readText(isAbsolute(named) ? named : join(dirname(path), named), flag)
  try {
    return await parseAdmissionConfiguration(text, { parse, read })
  } catch (error) {
    if (!(error instanceof AdmissionError)) throw error
    throw new CliError({ code: 'InvalidFlag', message: `--${flag}: ${error.message}`, cause: error })
  }
}
