/**
 * Mappings between core types and schemas, one for each shape that a type can have. They are created once, when a
 * service starts.
 */
@NullMarked
package io.lendstream.schemas.codec.mapping;

import org.jspecify.annotations.NullMarked;
