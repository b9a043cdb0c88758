/** How many replicas an inference service needs now and shortly. */
@NullMarked
package io.lendstream.core.demand;

import org.jspecify.annotations.NullMarked;
