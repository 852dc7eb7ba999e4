;;; iree-dbg.el --- MLIR and IREE VM assembly with iree-dbg's language server -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

;;; Commentary:

;; Two small modes and their registration with Eglot, which is part of Emacs 29; in Emacs 28, `package-install' it.  A
;; compiled module (.vmfb) opens as its disassembly.
;;
;;   (load "path/to/iree-dbg.el")
;;   (add-hook 'iree-dbg-mode-hook #'eglot-ensure)
;;
;; With Eglot, `iree-dbg-what-becomes' shows the function at point at a stage of its compilation, and
;; `iree-dbg-where-did-this-go' lists the lines of all stages that the operation at point became.  `iree-dbg-debug' debugs
;; the function at point in a buffer with a prompt; `help' there lists the commands.  Dape (Emacs 29) gets a configuration.

;; The compiler in the .venv of a folder runs after `iree-dbg trust FOLDER' in a shell; one on the PATH always does.

;;; Code:

(defgroup iree-dbg nil "Debugger and language server for IREE." :group 'languages)

(defcustom iree-dbg-program "iree-dbg"
  "The iree-dbg program."
  :type 'string)

(defconst iree-dbg-font-lock
  '(("//.*" . font-lock-comment-face)
    ("\"\\(?:[^\"\\\n]\\|\\\\.\\)*\"" . font-lock-string-face)
    ("@[[:alnum:]_.$-]+" . font-lock-function-name-face)
    ("%[[:alnum:]_.$-]+" . font-lock-variable-name-face)
    ("[#!^][[:alnum:]_.$-]+" . font-lock-type-face)
    ("\\_<[a-z_]+\\(?:\\.[[:alnum:]_]+\\)+" . font-lock-keyword-face))
  "Colours until those of the server arrive.")

(define-derived-mode iree-dbg-mode prog-mode "MLIR"
  "MLIR and IREE VM assembly."
  (setq-local comment-start "// ")
  (setq-local comment-start-skip "//+ *")
  (setq-local font-lock-defaults '(iree-dbg-font-lock t)))

(define-derived-mode iree-dbg-vmasm-mode iree-dbg-mode "VM assembly"
  "IREE VM assembly.")

(define-derived-mode iree-dbg-module-mode iree-dbg-vmasm-mode "IREE module"
  "A compiled module of IREE, as its disassembly."
  (let ((inhibit-read-only t)
        (file buffer-file-name))
    (erase-buffer)
    (call-process iree-dbg-program nil t nil "dump" "--output=disassembly" "--bytecode_offsets" file)
    (goto-char (point-min))
    ;; Saving would write the text over the module.
    (setq buffer-file-name nil
          buffer-file-truename nil)
    (setq buffer-read-only t)
    (set-buffer-modified-p nil)))

(add-to-list 'auto-mode-alist '("\\.mlir\\'" . iree-dbg-mode))
(add-to-list 'auto-mode-alist '("\\.vmasm\\'" . iree-dbg-vmasm-mode))
(add-to-list 'auto-mode-alist '("\\.vmfb\\'" . iree-dbg-module-mode))

(defvar eglot-server-programs)

(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs
               `(((iree-dbg-mode :language-id "mlir") (iree-dbg-vmasm-mode :language-id "vmasm"))
                 . (,iree-dbg-program "lsp"))))

(defun iree-dbg--ask (method &rest parameters)
  "Ask the language server of this buffer METHOD with PARAMETERS."
  (unless (fboundp 'eglot-current-server)
    (user-error "This needs eglot"))
  (jsonrpc-request (or (eglot-current-server) (user-error "No server: M-x eglot first")) method parameters :timeout 600))

(defun iree-dbg--uri ()
  "The URI of this buffer's document."
  (plist-get (eglot--TextDocumentIdentifier) :uri))

(defun iree-dbg--function ()
  "The name of the export around point, or of the only one."
  (let* ((exports (append (plist-get (iree-dbg--ask :iree-dbg/exports :uri (iree-dbg--uri)) :exports) nil))
         (line (1- (line-number-at-pos nil t)))
         (here (lambda (export)
                 (seq-some (lambda (range) (<= (aref range 0) line (aref range 1))) (plist-get export :lines))))
         (found (or (seq-find here exports) (and (null (cdr exports)) (car exports)))))
    (or (plist-get found :name) (user-error "Point is in no function that is exported"))))

(defun iree-dbg--stage-buffer (server uri)
  "A buffer with the stage of a compilation that SERVER knows as URI."
  (let ((buffer (get-buffer-create (file-name-nondirectory (car (split-string uri "?")))))
        (text (plist-get (jsonrpc-request server :iree-dbg/textDocumentContent (list :uri uri)) :text)))
    (with-current-buffer buffer
      (let ((inhibit-read-only t))
        (erase-buffer)
        (insert text))
      (delay-mode-hooks (iree-dbg-mode))
      (setq buffer-read-only t)
      (set-buffer-modified-p nil)
      (goto-char (point-min)))
    buffer))

(defun iree-dbg-what-becomes ()
  "Show the function at point at a stage of its compilation, which is chosen from a list.
The first time this compiles the file."
  (interactive)
  (let* ((server (eglot-current-server))
         (answer (iree-dbg--ask :iree-dbg/stages :textDocument (eglot--TextDocumentIdentifier) :function (iree-dbg--function)))
         (stages (mapcar (lambda (stage) (cons (plist-get stage :title) stage)) (plist-get answer :stages)))
         (stage (cdr (assoc (completing-read "Stage: " stages nil t) stages))))
    (pop-to-buffer (iree-dbg--stage-buffer server (plist-get stage :uri)))
    (goto-char (point-min))
    (forward-line (or (plist-get stage :line) 0))))

(defun iree-dbg-where-did-this-go ()
  "List the lines of all stages that the operation at point became.  A click opens the stage there."
  (interactive)
  (let ((server (eglot-current-server))
        (answer (apply #'iree-dbg--ask :iree-dbg/becomes (eglot--TextDocumentPositionParams))))
    (with-current-buffer (get-buffer-create "*Where this went*")
      (let ((inhibit-read-only t))
        (erase-buffer)
        (mapc
         (lambda (stage)
           (mapc
            (lambda (line)
              (let ((uri (plist-get line :uri))
                    (number (plist-get (plist-get (plist-get line :range) :start) :line)))
                (insert-text-button
                 (format "%s:%d" (plist-get stage :name) (1+ number))
                 'action (lambda (_)
                           (pop-to-buffer (iree-dbg--stage-buffer server uri))
                           (forward-line number)))
                (insert (format "  %s\n" (string-trim (plist-get line :text))))))
            (plist-get stage :lines)))
         (plist-get answer :stages)))
      (goto-char (point-min))
      (special-mode)
      (display-buffer (current-buffer)))))

(defun iree-dbg-debug (program function inputs)
  "Debug FUNCTION of PROGRAM, a source or a module, with INPUTS, in a buffer with a prompt."
  (interactive
   (list (or buffer-file-name (read-file-name "Program: "))
         (if (and buffer-file-name (fboundp 'eglot-current-server) (eglot-current-server))
             (iree-dbg--function)
           (read-string "Function: "))
         (split-string (read-string "Arguments, separated by spaces: "))))
  (let ((arguments (mapcar (lambda (input) (concat "--input=" input)) inputs))
        (name (format "debug %s" function)))
    (pop-to-buffer
     (apply #'make-comint name iree-dbg-program nil "debug" program (concat "--function=" function) arguments))))

(defvar dape-configs)

(with-eval-after-load 'dape
  (add-to-list 'dape-configs
               `(iree-dbg
                 modes (iree-dbg-mode)
                 command ,iree-dbg-program
                 command-args ("dap")
                 :type "iree"
                 :request "launch"
                 :program (lambda () buffer-file-name)
                 :function (lambda () (read-string "Function: "))
                 :inputs (lambda () (vconcat (split-string (read-string "Arguments: ")))))))

(provide 'iree-dbg)
;;; iree-dbg.el ends here
