/** What every service process is: a command that reads its settings, finds its broker, serves until it is told to stop, and says meanwhile how it is. Nothing here knows what a GPU is. */
@NullMarked
package io.lendstream.service;

import org.jspecify.annotations.NullMarked;
