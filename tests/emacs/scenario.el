;;; scenario.el --- a user's actions in Emacs, and what must be seen after each -*- lexical-binding: t -*-

;;; Commentary:

;; `run' starts this in an Emacs without any other configuration; the last line is `N passed, N failed'.

;;; Code:

(require 'eglot)
(require 'xref)

(setq iree-dbg-program (getenv "program"))
;; The file was loaded before its program was known.
(setq eglot-server-programs
      `(((iree-dbg-mode iree-dbg-vmasm-mode) . (,iree-dbg-program "lsp"))))

(defvar passed 0)
(defvar failed 0)
(defvar folder (getenv "SCRATCH"))

(defmacro step (title &rest body)
  "Run BODY, which must not fail, as TITLE."
  `(condition-case problem
       (progn ,@body (setq passed (1+ passed)) (message "ok: %s" ,title))
     (error (setq failed (1+ failed)) (message "FAILED: %s\n  %S" ,title problem))))

(defun check (condition &rest seen)
  "Fail with SEEN unless CONDITION."
  (unless condition
    (error "Seen: %S" seen)))

(defun until-true (condition)
  "Wait until CONDITION, a function, holds."
  (let ((end (+ (float-time) 30)))
    (while (and (not (funcall condition)) (< (float-time) end))
      (accept-process-output nil 0.05))
    (check (funcall condition) "never")))

(defun go-to (line text &optional offset)
  "Put point on TEXT in LINE, at its character OFFSET."
  (goto-char (point-min))
  (forward-line (1- line))
  (search-forward text (line-end-position))
  (goto-char (+ (match-beginning 0) (or offset 0))))

(defun hover ()
  "What the server says of point."
  (let ((answer (jsonrpc-request (eglot-current-server) :textDocument/hover (eglot--TextDocumentPositionParams))))
    (plist-get (plist-get answer :contents) :value)))

(step "open a file: the server is attached"
      (find-file (expand-file-name "x.mlir" folder))
      (check (eq major-mode 'iree-dbg-mode) major-mode)
      (let ((eglot-sync-connect 30))
        (apply #'eglot--connect (eglot--guess-contact)))
      (until-true #'eglot-current-server)
      (eglot--maybe-activate-editing-mode))

(step "hover a call: its calling convention, after characters of several bytes"
      (go-to 8 "@" 3)
      (check (string-match-p "0ii_i" (hover)) (hover)))

(step "definition of a value"
      (go-to 8 "%b)" 1)
      (call-interactively #'xref-find-definitions)
      (check (= (line-number-at-pos) 7) (line-number-at-pos)))

(step "a mistake is reported while typing"
      (goto-char (point-min))
      (forward-line 7)
      (insert "  %z = arith.addi %nowhere, %a : i32\n")
      (eglot--signal-textDocument/didChange)
      (until-true (lambda ()
                    (seq-some (lambda (it) (string-match-p "%nowhere" (flymake-diagnostic-text it)))
                              (append (bound-and-true-p eglot--diagnostics) (flymake-diagnostics)))))
      (revert-buffer t t t))

(step "a compiled module opens as its disassembly"
      (find-file (expand-file-name "x.vmfb" folder))
      (check (derived-mode-p 'iree-dbg-vmasm-mode) major-mode)
      (goto-char (point-min))
      (check (search-forward "vm.rem.i32.u" nil t) (buffer-string))
      (check buffer-read-only))

(step "what becomes of a function: a stage opens at it"
      (find-file (expand-file-name "x.mlir" folder))
      (go-to 7 "@main" 1)
      (let (titles)
        (cl-letf (((symbol-function 'completing-read)
                   (lambda (_prompt stages &rest _)
                     (setq titles (mapcar #'car stages))
                     (car (seq-find (lambda (it) (equal (plist-get (cdr it) :name) "vm")) stages)))))
          (iree-dbg-what-becomes))
        (check (> (length titles) 5) titles)
        (check (looking-at-p ".*vm\\.func.*@main") (buffer-substring (line-beginning-position) (line-end-position)))))

(step "where an operation went: its lines in all stages"
      (switch-to-buffer "x.mlir")
      (go-to 3 "arith.remui" 2)
      (iree-dbg-where-did-this-go)
      (with-current-buffer "*Where this went*"
        (goto-char (point-min))
        (check (re-search-forward "^vm:[0-9]+ .*vm\\.rem\\.i32\\.u" nil t) (buffer-string))
        (push-button (match-beginning 0))
        ;; The button has opened the stage there.
        (with-current-buffer (window-buffer)
          (check (looking-at-p ".*vm\\.rem\\.i32\\.u") (buffer-name)))))

(step "the debugger in a buffer runs commands"
      (iree-dbg-debug (expand-file-name "x.vmfb" folder) "main" '("48" "18"))
      (let ((process (get-buffer-process (current-buffer))))
        (comint-send-string process "break main\nrun\nprint %b\n")
        (until-true (lambda () (string-match-p "\\$1 = 18\\|= 18" (buffer-string))))
        (set-process-query-on-exit-flag process nil)
        (delete-process process)))

(message "%d passed, %d failed" passed failed)
(kill-emacs (if (= failed 0) 0 1))

;;; scenario.el ends here
