export {
  type HistogramPoint,
  type MetricFamily,
  type MetricLabels,
  type NumberPoint,
  readMetricFamilies,
} from './metric-families.ts'
export {
  createMetricProducer,
  type HighResolutionTime,
  type MetricProducer,
  type MetricProducerOptions,
  metricUnit,
  type ProducedMetric,
  type ProducedResource,
} from './metric-producer.ts'
