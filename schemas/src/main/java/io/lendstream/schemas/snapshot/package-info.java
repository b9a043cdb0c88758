/** Snapshots of a domain's state: encoding in parts, and the reading of what is whole. */
@NullMarked
package io.lendstream.schemas.snapshot;

import org.jspecify.annotations.NullMarked;
