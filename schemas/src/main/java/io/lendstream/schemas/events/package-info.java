/** CloudEvents attributes of our records: the data that external routers need without reading the value. */
@NullMarked
package io.lendstream.schemas.events;

import org.jspecify.annotations.NullMarked;
