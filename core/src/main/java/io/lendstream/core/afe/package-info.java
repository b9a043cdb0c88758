/** What changing a running job costs: auto-fast elastic training (AFE, DeepBoot, TPDS 2023) against a restart. */
@NullMarked
package io.lendstream.core.afe;

import org.jspecify.annotations.NullMarked;
