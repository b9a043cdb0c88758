/** Who gets which GPU: policies propose targets for training, and name the GPUs whose return hurts least. Adaptive task scaling (ATS) follows DeepBoot (TPDS 2023). */
@NullMarked
package io.lendstream.core.lending;

import org.jspecify.annotations.NullMarked;
