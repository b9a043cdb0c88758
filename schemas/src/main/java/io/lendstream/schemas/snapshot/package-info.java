/** Snapshots of a domain's state: their encoding in parts, and the reading of complete ones. */
@NullMarked
package io.lendstream.schemas.snapshot;

import org.jspecify.annotations.NullMarked;
