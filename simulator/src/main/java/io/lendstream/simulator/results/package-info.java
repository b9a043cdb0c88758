/** What a run came to, in figures and in files whose fields other tools read. A replay and a demo write the same. */
@NullMarked
package io.lendstream.simulator.results;

import org.jspecify.annotations.NullMarked;
