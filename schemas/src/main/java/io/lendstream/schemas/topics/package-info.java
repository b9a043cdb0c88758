/** The topics that services meet on, with everything a cluster must be told about them. What is not in the catalogue is nobody's interface. */
@NullMarked
package io.lendstream.schemas.topics;

import org.jspecify.annotations.NullMarked;
