/** The one door through which the command line library comes in. */
export { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
