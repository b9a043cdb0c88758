/** The byte format in which models and trackers save their state and restore it. */
@NullMarked
package io.lendstream.core.forecast.snapshot;

import org.jspecify.annotations.NullMarked;
