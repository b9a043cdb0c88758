/**
 * The frame of every service process. It is a command that reads its settings, finds its broker, serves until it is
 * stopped, and reports its health. It knows nothing about GPUs.
 */
@NullMarked
package io.lendstream.service;

import org.jspecify.annotations.NullMarked;
