/** Reads this machine's GPUs through NVIDIA's library NVML. Written after its header, not run on hardware. */
@NullMarked
package io.lendstream.agent.gpu.nvml;

import org.jspecify.annotations.NullMarked;
