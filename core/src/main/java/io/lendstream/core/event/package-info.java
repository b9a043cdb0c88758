/**
 * The inputs of the scheduler: all events of a domain, each with its own time. Each topic has one record type, and
 * decisions depend on nothing else.
 */
@NullMarked
package io.lendstream.core.event;

import org.jspecify.annotations.NullMarked;
