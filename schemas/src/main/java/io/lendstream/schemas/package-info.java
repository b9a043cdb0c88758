/**
 * The wire format between services: topic names, the conversion of records to bytes and back, and the schema registry
 * client. It makes no decisions.
 */
@NullMarked
package io.lendstream.schemas;

import org.jspecify.annotations.NullMarked;
