/** What dcgm-exporter's metrics mean in our records: a table, and how rows become GPUs. For nodes that will not run NVML twice. */
@NullMarked
package io.lendstream.agent.gpu.dcgm;

import org.jspecify.annotations.NullMarked;
