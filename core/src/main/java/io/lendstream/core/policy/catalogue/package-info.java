/** All policies by the names and settings that people write. */
@NullMarked
package io.lendstream.core.policy.catalogue;

import org.jspecify.annotations.NullMarked;
