/**
 * Decodes, cuts and resizes images: {@link dev.larder.loader.internal.image.ImageMaker} makes a row of an encoded
 * image. JPEG goes through JNA to libjpeg-turbo, all else to ImageIO; nothing else knows of either.
 */
@NullMarked
package dev.larder.loader.internal.image;

import org.jspecify.annotations.NullMarked;
