/**
 * {@code ./dev audit}: the shipped parts with published vulnerabilities. It compares a bill of materials, and
 * directories of jars, with a copy of a database in the format of osv.dev; it uses no network.
 */
@NullMarked
package io.lendstream.benchmarks.audit;

import org.jspecify.annotations.NullMarked;
