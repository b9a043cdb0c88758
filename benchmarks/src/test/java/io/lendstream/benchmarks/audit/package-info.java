@NullMarked
package io.lendstream.benchmarks.audit;

import org.jspecify.annotations.NullMarked;
