/** How a GPU can be cut into MIG instances: profiles, places, layouts, and the way from one layout to another. */
@NullMarked
package io.lendstream.core.mig;

import org.jspecify.annotations.NullMarked;
