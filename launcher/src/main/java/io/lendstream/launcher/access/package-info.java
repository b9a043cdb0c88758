/** Rights on the brokers: lists with a file for each principal, and their grants. */
@NullMarked
package io.lendstream.launcher.access;

import org.jspecify.annotations.NullMarked;
