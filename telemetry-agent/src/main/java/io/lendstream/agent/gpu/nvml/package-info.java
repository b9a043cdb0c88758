/** NVIDIA's driver through its library NVML: what it tells of this machine, in our own words. Written after its header, not run on hardware. */
@NullMarked
package io.lendstream.agent.gpu.nvml;

import org.jspecify.annotations.NullMarked;
