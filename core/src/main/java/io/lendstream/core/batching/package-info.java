/** How services are batched, and how many instances of which size they need. */
@NullMarked
package io.lendstream.core.batching;

import org.jspecify.annotations.NullMarked;
