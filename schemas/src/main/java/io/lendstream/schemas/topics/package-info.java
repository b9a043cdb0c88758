/** The topics between services, with the settings that a cluster needs for them. */
@NullMarked
package io.lendstream.schemas.topics;

import org.jspecify.annotations.NullMarked;
