/** A template of a group of pods. */
export interface GroupTemplate {
  name?: string
  priorityClassName?: string
  priority?: number | null
  schedulingConstraints?: object
  resourceClaims?: readonly object[]
  preemptionPolicy?: string
}

/** A template of a group of groups. */
export interface CompositeTemplate extends GroupTemplate, WorkloadSpec {}

/** What workloads and composite templates have in common. */
export interface WorkloadSpec {
  podGroupTemplates?: GroupTemplate[]
  compositePodGroupTemplates?: CompositeTemplate[]
}
