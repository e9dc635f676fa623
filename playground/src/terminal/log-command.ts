import { flagOf, isSet } from './arguments.ts'
import type { Session } from './session.ts'
import { statusError, TerminalError } from './terminal-error.ts'

/** The command logs. */

export async function logs(session: Session): Promise<void> {
  const { given, output } = session
  const [first] = given.words
  if (first === undefined) throw new TerminalError('the name of a pod is missing')
  const name = first.replace(/^(?:pods?|po)\//, '')
  const query = new URLSearchParams()
  const container = flagOf(given, 'container')
  if (container !== undefined) query.set('container', container)
  if (isSet(given, 'previous')) query.set('previous', 'true')
  const path = `${session.pathOf(await session.resource('pods'), name, 'log')}?${query}`
  const { status, text } = await session.cluster.request({ path, ...(session.user === undefined ? {} : { user: session.user }) })
  if (status >= 300) throw statusError(text)
  output.print(text)
}
