/** Who may do what on a cluster's brokers: lists of rights, a file per principal, and how brokers are told. */
@NullMarked
package io.lendstream.launcher.access;

import org.jspecify.annotations.NullMarked;
