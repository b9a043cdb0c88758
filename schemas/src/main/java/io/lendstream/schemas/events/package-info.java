/** Our records as CloudEvents: what routers outside of us need to know of a record without reading it. */
@NullMarked
package io.lendstream.schemas.events;

import org.jspecify.annotations.NullMarked;
