/** Converts dcgm-exporter's metrics to our records, by a table. For nodes that should not run NVML twice. */
@NullMarked
package io.lendstream.agent.gpu.dcgm;

import org.jspecify.annotations.NullMarked;
