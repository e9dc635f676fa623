import { parentPort } from 'node:worker_threads'
import { DecodeError } from '@krmkit/schema'
import { yamlToJson } from '@krmkit/schema/yaml'
import type { YamlReply, YamlTask } from './messages.ts'

/** The worker thread of `createYamlTranslator`; converts one document at a time. */

function translate({ yaml, maxBytes }: YamlTask): YamlReply {
  try {
    return yamlToJson(yaml, { maxBytes })
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    const { code, message, path, mark } = error
    return { refused: { code, message, path, mark } }
  }
}

parentPort?.on('message', (task: YamlTask) => {
  const reply = translate(task)
  parentPort?.postMessage(reply, 'json' in reply ? [reply.json.buffer as ArrayBuffer] : [])
})
