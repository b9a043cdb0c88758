/** What services say to each other, and how it is written down. Nothing here decides; it names topics, turns records into bytes and back, and speaks to the schema registry. */
@NullMarked
package io.lendstream.schemas;

import org.jspecify.annotations.NullMarked;
