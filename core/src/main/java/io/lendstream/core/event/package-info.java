/**
 * What the scheduler is told: everything that happens to a domain, each with its own time. One record a topic; a
 * decision rests on these and on nothing else.
 */
@NullMarked
package io.lendstream.core.event;

import org.jspecify.annotations.NullMarked;
