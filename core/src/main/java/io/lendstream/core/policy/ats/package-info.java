/**
 * DeepBoot's adaptive task scaling (ATS) and the policies built on it.
 * Source: DeepBoot (TPDS 2023), https://doi.org/10.1109/TPDS.2023.3293835.
 */
@NullMarked
package io.lendstream.core.policy.ats;

import org.jspecify.annotations.NullMarked;
