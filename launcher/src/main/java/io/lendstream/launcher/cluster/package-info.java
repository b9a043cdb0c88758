/**
 * Setting up a cluster that Lendstream is to run on: its topics and its schemas.
 * What is there is compared with what should be; nothing that exists is ever changed or deleted.
 */
@NullMarked
package io.lendstream.launcher.cluster;

import org.jspecify.annotations.NullMarked;
