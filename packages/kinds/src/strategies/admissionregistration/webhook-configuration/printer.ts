import type { Printer } from '../../../interfaces.ts'
import { agedPrinter, column } from '../../../printers/columns.ts'
import type {
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from '../../../types/admissionregistration-v1.generated.ts'

/** Serves validating and mutating configurations. */
export const webhookConfigurationPrinter: Printer<MutatingWebhookConfiguration | ValidatingWebhookConfiguration> =
  /* @__PURE__ */ agedPrinter([column('Webhooks', 'integer', 'Number of webhooks.')], ({ webhooks }) => [webhooks?.length ?? 0])
