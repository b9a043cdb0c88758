/** How much a training job gains from GPUs: throughput times statistical efficiency, as in Pollux (OSDI 2021). */
@NullMarked
package io.lendstream.core.goodput;

import org.jspecify.annotations.NullMarked;
