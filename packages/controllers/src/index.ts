export * from './browser.ts'
export { simulatedServerOptions } from './node-simulation/server-options.ts'
