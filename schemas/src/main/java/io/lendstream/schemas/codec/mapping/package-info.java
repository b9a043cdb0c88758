/** How a core type and a schema that meet are turned into each other, one mapping for each shape that a type can have. Made once, when a service starts. */
@NullMarked
package io.lendstream.schemas.codec.mapping;

import org.jspecify.annotations.NullMarked;
