/**
 * What there is to do in a run: training jobs that arrive, with the truth about their speed, and inference services
 * with the requests made of them. Workloads come from files in published formats or from generators with a seed.
 */
@NullMarked
package io.lendstream.simulator.workload;

import org.jspecify.annotations.NullMarked;
